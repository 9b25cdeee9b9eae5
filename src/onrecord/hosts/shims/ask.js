const LIMIT = 5000

const ask = (event, input) =>
  new Promise((resolve) => {
    const finish = (printed) => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(printed) ?? {})
      } catch {
        resolve({})
      }
    }
    const text = JSON.stringify(input)
    const child = execFile("sh", [LAUNCHER, event, HOST], { maxBuffer: 1 << 20 }, (error, printed) => finish(printed))
    const timer = setTimeout(() => {
      finish("")
      child.kill("SIGKILL")
      // What the child has started may hold these open, and the host could not end.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    }, LIMIT)
    child.stdin.on("error", () => {})
    child.stdin.end(text)
  }).catch(() => ({}))
