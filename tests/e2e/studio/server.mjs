// A server for tests.

import { spawn } from "node:child_process";

export class Server {
  constructor(poet, data, options) {
    Object.assign(this, { poet, data, options });
  }

  /** Starts it; on the port that it had before, if it is started again. */
  async start() {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    this.process = spawn(this.poet, ["serve", "--listen", listen, "--data", this.data, ...this.options], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.url = await new Promise((resolve, reject) => {
      let said = "";
      this.process.stderr.on("data", (text) => {
        said += text;
        const url = /serving at (\S+)/.exec(said)?.[1];
        if (url) resolve(url);
      });
      this.process.on("error", reject);
      this.process.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    });
    return this;
  }

  async kill() {
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await ended;
  }
}
