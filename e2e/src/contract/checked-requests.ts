import type { ApiAnswer } from '../api-client.js';
import { createAnswerCheck } from './check-answer.js';

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
