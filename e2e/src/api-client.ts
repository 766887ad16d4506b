import { type CheckedRequests, checkedRequests } from './contract/checked-requests.js';

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
