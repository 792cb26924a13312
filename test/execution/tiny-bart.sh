# Makes a folder of BART with random weights and a byte-level tokenizer.
#
# usage: tiny-bart.sh SOURCE FOLDER

set -euo pipefail
goldens=$1/test/goldens folder=$2
mkdir "$folder"
cp "$goldens"/byte-level/{vocab.json,merges.txt,tokenizer.json} "$folder"
/usr/bin/python3 - "$goldens/bart-one-layer/config.json" "$folder" <<'END'
import json
import sys

golden, folder = sys.argv[1:]
with open(golden) as file:
    config = json.load(file)
with open(folder + "/vocab.json") as file:
    config["vocab_size"] = 1 + max(json.load(file).values())
with open(folder + "/config.json", "w") as file:
    json.dump(config, file)
END
heddle-compile "$folder" -o "$folder/artifact" --target x86-64-v3 \
  --random-weights 1 --write-weights "$folder/model.safetensors"
rm "$folder/artifact"
