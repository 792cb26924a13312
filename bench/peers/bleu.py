"""sacrebleu's BLEU of the lines of standard input. usage: PYTHON THIS REFERENCE"""

import sys

import sacrebleu

reference = open(sys.argv[1], encoding="utf-8").read().splitlines()
hypotheses = sys.stdin.read().splitlines()
print(sacrebleu.corpus_bleu(hypotheses, [reference[: len(hypotheses)]]).score)
