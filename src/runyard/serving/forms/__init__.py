"""Forms of requests and answers for models without code: SDK v1's own, TensorFlow Serving's, the open inference
protocol's. One module for each."""
