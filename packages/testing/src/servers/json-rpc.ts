import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Listening, listen } from './listen.js';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: never;
}

/**
 * Serves JSON-RPC, one call or several in a request.
 * @param code of the errors that `answer` throws
 */
export function serveJsonRpc(
  answer: (method: string, params: never) => unknown,
  code: number,
): Promise<Listening> {
  const answerOne = async ({ id, method, params }: Call) => {
    try {
      return { jsonrpc: '2.0', id, result: await answer(method, params) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code, message: (error as Error).message } };
    }
  };
  const server = createServer(async (request, response) => {
    const asked = (await json(request)) as Call | Call[];
    const answers = Array.isArray(asked) ? await Promise.all(asked.map(answerOne)) : await answerOne(asked);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
  });
  return listen(server);
}
