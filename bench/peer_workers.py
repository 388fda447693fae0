"""The processes that bench/peers.py times: ONNX Runtime and OpenVINO, which this file runs itself, and Assay.

    .deps/peers/bin/python bench/peer_workers.py onnxruntime|openvino MODEL THREADS INPUT.npy OUTPUT.npy

loads the model, writes its first output, prints {"ready": true}, and for each line {"ms": T} on standard input runs for T
ms and prints {"samples": [ms, ...]}.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


class Worker:
    """A runtime in its own process: one JSON line per request, stopped while it is not its turn."""

    def __init__(self, name, command, env):
        self.name = name
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env={**os.environ, **env})

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            last = self.errors.read().strip().splitlines()[-1:] or ["no message"]
            raise RuntimeError(f"{self.name} ended with code {self.process.returncode}: {last[0]}")
        return json.loads(line)

    def wait_ready(self):
        try:
            self.read()
        except BaseException:
            self.close()
            raise
        self.pause()

    def turn(self, milliseconds):
        """Latencies in ms of the runs in this turn, without the first one, which finds the caches cold."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(json.dumps({"ms": milliseconds}) + "\n")
        self.process.stdin.flush()
        latencies = self.read()["samples"]
        self.pause()
        return latencies[1:] or latencies

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


class OneShot:
    """Assay without --serve: a process per turn, the outputs from `assay run`."""

    def __init__(self, name, command, env, output_command):
        self.name, self.command, self.env = name, command, {**os.environ, **env}
        self.call(output_command)
        self.turn(0)  # an unknown flag shows here and not in the middle of the turns

    def call(self, command):
        done = subprocess.run(command, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise RuntimeError(f"{self.name} ended with code {done.returncode}: {last[0]}")
        return done.stdout

    def turn(self, _):
        return json.loads(self.call(self.command))["samples"]

    def close(self):
        pass


def onnxruntime_runner(path, threads, x):
    import numpy as np
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input(session.get_inputs()[0].name, x)
    outputs = [output.name for output in session.get_outputs()]
    for name in outputs:
        binding.bind_output(name)

    def run():
        start = time.perf_counter_ns()
        session.run_with_iobinding(binding)
        return (time.perf_counter_ns() - start) / 1e6

    run()
    first = np.array(binding.copy_outputs_to_cpu()[0])
    return run, first


def openvino_runner(path, threads, x):
    import numpy as np
    import openvino
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({model.input(0): list(x.shape)})
    # Without the precision hint OpenVINO computes in bfloat16 on a processor with AMX.
    compiled = core.compile_model(model, "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads),
        "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.set_input_tensor(0, openvino.Tensor(x))

    def run():
        request.infer()
        return request.latency  # measured inside the library, so without the cost of Python

    run()
    return run, np.array(request.get_output_tensor(0).data)


def serve_peer(arguments):
    runtime, path, threads, input_file, output_file = arguments
    import numpy as np
    x = np.load(input_file)
    make = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner}[runtime]
    run, output = make(path, int(threads), x)
    np.save(output_file, output)
    for _ in range(3):
        run()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        samples, end = [], time.perf_counter() + json.loads(line)["ms"] / 1e3
        while len(samples) < 3 or time.perf_counter() < end:
            samples.append(run())
        print(json.dumps({"samples": samples}), flush=True)


if __name__ == "__main__":
    serve_peer(sys.argv[1:])
