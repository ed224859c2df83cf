"""cm-tui: one local, inspectable memory for coding agents and the developer who works with them."""

import os

__version__ = "0.1.0"

# One vector against a matrix is bound by memory: a second BLAS thread gains a third at 100,000 rows, and on a busy
# machine each product waits up to 8 ms for it. Said before numpy starts its threads; parser processes inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The wheels of onnxruntime send usage data to Microsoft once the module is imported, and huggingface_hub to its hub.
os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
