import { createAnswerCheck } from './check-answer.js';

/** The record that was made; throws with the answer where none was. */
export function created(answer: ApiAnswer) {
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** Sends a request, its body as it is; throws on an answer that breaks the contract. `path` from the root. */
export type CheckedRequests = (
  method: string,
  path: string,
  body?: string,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;

/** Without a key no `Authorization` is sent. Of a stream only its head is read. */
export function checkedRequests(url: string, key?: string): CheckedRequests {
  const check = createAnswerCheck();
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const { status } = answer;
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      await answer.body?.cancel();
      return { status, headers: answer.headers, body: undefined };
    }
    const text = await answer.text();
    const parsed = { status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
    check(method, new URL(answer.url).pathname, parsed);
    return parsed;
  };
}

/** An answer as it came; `body` is parsed JSON of any shape, which the test then states. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what comes is what the test examines
  body: any;
}

export interface ApiClient {
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
  /** Sends a body as it is. */
  raw(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<ApiAnswer>;
}

/**
 * A small HTTP client as a user would write one; paths are below `/api`. It throws on an answer that breaks the contract,
 * so that every whole flow tests the contract too.
 */
export const apiClient = (url: string, key: string): ApiClient => clientOf(checkedRequests(url, key));

/** A client that sends its requests so; paths are below `/api`. */
export function clientOf(ask: CheckedRequests): ApiClient {
  const raw: ApiClient['raw'] = (method, path, body, headers) => ask(method, `/api${path}`, body, headers);
  return {
    raw,
    get: (path) => raw('GET', path),
    post: (path, body, headers) =>
      raw('POST', path, body === undefined ? undefined : JSON.stringify(body), headers),
    put: (path, body, headers) => raw('PUT', path, JSON.stringify(body), headers),
    delete: (path) => raw('DELETE', path),
  };
}
