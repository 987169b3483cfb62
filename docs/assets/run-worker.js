// Python, in a worker that the page starts at the first "Run": CPython as WebAssembly (Pyodide), the calculator, and
// docs/hooks/runner.py, which runs the reader's programs.
import { folder, lock } from "./runtime.js";

const LIMIT = 100_000; // characters of output a program may show

// Pyodide asks for its files by fetch; what comes is counted. The WebAssembly lies there gzipped, so that it is as
// small on any host.
const plainFetch = fetch;
self.fetch = async (address, options) => {
  const packed = String(address).endsWith(".wasm");
  const answer = await plainFetch(packed ? `${address}.gz` : address, options).catch(lost);
  if (!answer.ok) throw new TypeError(`${answer.status} ${answer.url}`);
  const reader = answer.body.getReader();
  const counted = new ReadableStream({
    async pull(out) {
      const { done, value } = await reader.read().catch(lost); // before Pyodide finds its file broken
      if (done) return out.close();
      postMessage({ kind: "progress", bytes: value.byteLength });
      out.enqueue(value);
    },
  });
  const body = packed ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
  return new Response(body, { headers: { "content-type": packed ? "application/wasm" : "application/zip" } });
};

function lost(error) {
  postMessage({ kind: "lost" });
  throw error;
}

function broken(error) {
  postMessage({ kind: "broken", text: String(error) });
}

// Pyodide only warns when this fails, and then waits for ever.
const instantiate = WebAssembly.instantiateStreaming;
WebAssembly.instantiateStreaming = (...source) => {
  const made = instantiate(...source);
  made.catch(broken);
  return made;
};

async function start() {
  const [{ loadPyodide }, { default: createPyodideModule }, programs] = await Promise.all([
    import(`${folder}pyodide.js`),
    import(`${folder}pyodide.asm.js`),
    plainFetch(`${folder}programs.zip`).then((answer) => answer.arrayBuffer()),
  ]).catch(lost);
  const python = await loadPyodide({ indexURL: folder, lockFileContents: lock, createPyodideModule });
  python.unpackArchive(programs, "zip");
  return python;
}

// No timer fires here while Python runs, so each write goes out at once; the page gathers them.
function printer() {
  const decoder = new TextDecoder();
  let left = LIMIT;
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true });
    const room = left;
    left -= text.length;
    if (room > 0) postMessage({ kind: "output", text: text.slice(0, room) });
    if (room >= 0 && left < 0) postMessage({ kind: "cut" });
    return bytes.length;
  };
}

// No message arrives here while Python runs, and ending a busy worker takes Chromium two seconds. So each run has a
// leave, an address that the page revokes to stop it. Python asks for signals all the time; the leave is looked up now
// and then.
const EVERY = 50; // ms
const SIGINT = 2;

function gone(leave) {
  const look = new XMLHttpRequest();
  look.open("GET", leave, false);
  try {
    look.send();
  } catch {
    return true;
  }
}

function signals(leave) {
  let asked = 0;
  let next = performance.now() + EVERY;
  return {
    get 0() {
      if (asked++ % 16 || performance.now() < next) return 0;
      const stop = gone(leave);
      next = stop ? Infinity : performance.now() + EVERY; // once, or the traceback would be interrupted too
      return stop ? SIGINT : 0;
    },
    set 0(_) {
      /* Python puts back what it has read */
    },
  };
}

const started = start();
onmessage = async ({ data: { code, name, missing, leave } }) => {
  try {
    const python = await started;
    postMessage({ kind: "ready" });
    const write = printer();
    python.setStdin({ stdin: () => null }); // input() finds the end of the file
    python.setStdout({ write });
    python.setStderr({ write });
    python.setInterruptBuffer(gone(leave) ? undefined : signals(leave)); // a site's policy may forbid to look
    const { run } = python.pyimport("runner");
    const from = performance.now();
    const well = run(code, name, missing);
    postMessage({ kind: "done", well, ms: performance.now() - from });
  } catch (error) {
    broken(error);
  }
};
