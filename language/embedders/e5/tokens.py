"""The tokenizer of the model."""

from __future__ import annotations

from typing import Any

from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

from language.embedders.e5.weights import Vocabulary

_UNIGRAM = 1
_UNKNOWN = 2
_CONTROL = 3


class Tokenizer:
    """XLM-RoBERTa's tokenizer: SentencePiece with a unigram model, over the vocabulary in the file of the weights."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = vocabulary.replaced
        self._around = vocabulary.begin, vocabulary.end
        self._processor = SentencePieceProcessor(model_proto=_sentencepiece_model(vocabulary))

    def tokens(self, text: str, most_tokens: int) -> list[int]:
        """Return the ids of a text's first tokens, at most ``most_tokens`` including the start and end tokens.

        The text must hold no lone surrogates.
        """
        begin, end = self._around
        return [begin, *self._processor.encode(text.translate(self._replaced))[: most_tokens - 2], end]


def _sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    forms: Any = sentencepiece_model_pb2  # Its classes are made when it is imported.
    model = forms.ModelProto()
    trained, normal = model.trainer_spec, model.normalizer_spec
    trained.model_type = _UNIGRAM
    trained.bos_id, trained.eos_id = vocabulary.begin, vocabulary.end
    trained.pad_id, trained.unk_id = vocabulary.padding, vocabulary.unknown
    normal.name = "identity"  # Its own table of replacements is not in the file in the form that it reads.
    for text, score in zip(vocabulary.pieces, vocabulary.scores, strict=True):
        model.pieces.add(piece=text, score=score)  # Extending by a list copies each, which takes seven times as long.
    for control in (vocabulary.begin, vocabulary.end, vocabulary.padding):
        model.pieces[control].type = _CONTROL
    model.pieces[vocabulary.unknown].type = _UNKNOWN
    return bytes(model.SerializeToString())
