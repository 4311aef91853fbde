// The server: requests, jobs and what may go wrong with them.

/** What the server has refused, or that it is not there. */
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.message ?? "the server cannot be reached");
    Object.assign(this, { status, kind: body.error ?? "gone", field: body.field, retryAfter });
  }
}

let asked = null; // while the user types a token: several requests may need it
let askForToken = async () => null;
export const onTokenNeeded = (ask) => (askForToken = () => (asked ??= ask().finally(() => (asked = null))));

const headers = () => {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
};

/** A response, or a Problem. Where a token is needed, it is asked for once. */
export async function request(path, { method = "GET", body, type, signal } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      body,
      signal,
      headers: { ...headers(), ...(type ? { "Content-Type": type } : {}) },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, {});
  }
  if (response.ok) return response;
  if (response.status === 401) {
    const token = await askForToken();
    if (token) {
      sessionStorage.setItem("token", token);
      return request(path, { method, body, type, signal });
    }
  }
  const said = await response
    .json()
    .catch(() => ({ error: "refused", message: `the server answers ${response.status}` }));
  throw new Problem(response.status, said, Number(response.headers.get("Retry-After")) || undefined);
}

export const json = async (path, options) => (await request(path, options)).json();

export const submit = (order, signal) =>
  json("/api/v1/jobs", { method: "POST", body: JSON.stringify(order), type: "application/json", signal });

/** Cancels a job, also while the page is being closed. One that has ended stays as it is. */
export const cancel = (id) =>
  fetch(`/api/v1/jobs/${id}`, { method: "DELETE", keepalive: true, headers: headers() }).catch(() => {});

const ended = (job) => !["queued", "running"].includes(job.state);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Events of a job until it has ended, which is what is returned. A connection that breaks is made again. */
export async function follow(id, tell, signal) {
  for (let tries = 0; ; ++tries) {
    try {
      const response = await request(`/api/v1/jobs/${id}/events`, { signal });
      for await (const job of eventsOf(response)) {
        tries = 0;
        tell(job);
        if (ended(job)) return job;
      }
    } catch (error) {
      if (error.name === "AbortError" || (error instanceof Problem && error.status > 0) || tries > 20)
        throw error;
    }
    await pause(Math.min(5000, 200 * 2 ** tries));
    signal?.throwIfAborted();
  }
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      waiting += value;
      for (let end; (end = waiting.indexOf("\n\n")) >= 0; waiting = waiting.slice(end + 2)) {
        const data = waiting
          .slice(0, end)
          .split("\n")
          .find((line) => line.startsWith("data: "));
        if (data) yield JSON.parse(data.slice(6));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Why a job is not taken on yet. */
export const waitingText = (problem) =>
  `${problem.status ? problem.message : "the server cannot be reached"}; trying again …`;

// Jobs that this page waits for: those that nobody waits for any more are cancelled.
const wanted = new Set();
window.addEventListener("pagehide", () => wanted.forEach(cancel));

/** Submits and waits, also for room in the queue. `tell(job)` while it goes on; `wait(problem)` while there is no room. */
export async function run(order, { tell = () => {}, wait = () => {}, signal } = {}) {
  let job;
  while (!job) {
    try {
      job = await submit(order, signal);
    } catch (error) {
      const full = error instanceof Problem && [0, 429, 503].includes(error.status);
      if (!full) throw error;
      wait(error);
      await pause(1000 * (error.retryAfter ?? 3));
      signal?.throwIfAborted();
    }
  }
  tell(job);
  if (ended(job)) return job;
  wanted.add(job.id);
  try {
    return await follow(job.id, tell, signal);
  } catch (error) {
    if (error.name === "AbortError") cancel(job.id);
    throw error;
  } finally {
    wanted.delete(job.id);
  }
}

/** Saves a file of a job under the name that the server gives it. */
export async function download(path) {
  const response = await request(path);
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "poet";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
