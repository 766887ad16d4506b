import { createAnswerCheck } from './contract/check-answer.js';

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
export function apiClient(url: string, key: string): ApiClient {
  const check = createAnswerCheck();
  const raw = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const { status, headers: received } = answer;
    const parsed = { status, headers: received, body: text === '' ? undefined : JSON.parse(text) };
    check(method, new URL(answer.url).pathname, parsed);
    return parsed;
  };
  return {
    raw,
    get: (path) => raw('GET', path),
    post: (path, body, headers) =>
      raw('POST', path, body === undefined ? undefined : JSON.stringify(body), headers),
    put: (path, body, headers) => raw('PUT', path, JSON.stringify(body), headers),
    delete: (path) => raw('DELETE', path),
  };
}
