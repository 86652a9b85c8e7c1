// A browser starts no worker from a file, so a page that is opened from a disk could not search. Such a page runs the
// theme's worker in a hidden frame instead, which the theme knows by the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.document.write("<!doctype html><body></body>")
      this.inside.document.close()
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise((loaded, failed) => {
        const script = this.inside.document.createElement("script")
        Object.assign(script, { src: url, onload: loaded, onerror: failed })
        this.inside.document.body.append(script)
      })
      this.terminate = () => frame.remove()
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
