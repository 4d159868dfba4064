# 44841748b0a775ce
import json

print(json.dumps({"number": GET_batches_batch_id(batch_id="batch_91e7d35c04fa")["request_counts"]["failed"]}))
