"""A transactional producer over librdkafka's C interface."""
import ctypes

_library = ctypes.CDLL("librdkafka.so.1")
_PRODUCER = 0
_COPY = 2
for _name in ("conf_new", "new", "topic_new", "init_transactions", "begin_transaction", "commit_transaction", "abort_transaction"):
    getattr(_library, f"rd_kafka_{_name}").restype = ctypes.c_void_p
_library.rd_kafka_error_string.restype = ctypes.c_char_p


class Producer:
    def __init__(self, broker, transactional_id):
        error = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(_library.rd_kafka_conf_new())
        for name, value in (("bootstrap.servers", broker), ("transactional.id", transactional_id), ("linger.ms", "1")):
            if _library.rd_kafka_conf_set(conf, name.encode(), value.encode(), error, ctypes.c_size_t(512)) != 0:
                raise RuntimeError(error.value.decode())
        handle = _library.rd_kafka_new(_PRODUCER, conf, error, ctypes.c_size_t(512))
        if not handle:
            raise RuntimeError(error.value.decode())
        self.handle = ctypes.c_void_p(handle)
        self._check("init_transactions", 30000)

    def _check(self, call, *arguments):
        error = getattr(_library, f"rd_kafka_{call}")(self.handle, *arguments)
        if error:
            raise RuntimeError(f"{call}: {_library.rd_kafka_error_string(ctypes.c_void_p(error)).decode()}")

    def transaction(self, topic, partition, values, commit):
        self._check("begin_transaction")
        handle = ctypes.c_void_p(_library.rd_kafka_topic_new(self.handle, topic.encode(), None))
        for value in values:
            data = value.encode()
            if _library.rd_kafka_produce(handle, partition, _COPY, data, ctypes.c_size_t(len(data)), None, ctypes.c_size_t(0), None) != 0:
                raise RuntimeError("the queue of the producer is full")
        _library.rd_kafka_flush(self.handle, 30000)
        _library.rd_kafka_topic_destroy(handle)
        self._check("commit_transaction" if commit else "abort_transaction", 30000)

    def close(self):
        _library.rd_kafka_destroy(self.handle)
