import type { CallContext, Contract, Handlers, JsonValue, NamedRpc, Rpc } from '@orrery/contracts';
import type { ServeOptions } from '../port.js';
import { instanceSubject } from '../subjects.js';
import type { Answer, Exchange } from '../transport.js';
import { type AnswerDependencies, createAnswer } from './answer.js';
import { createReadCallHeaders } from './call-headers.js';

export type AnyHandler = (request: never, context: CallContext) => Promise<JsonValue>;

/** The one place where RPCs are registered. */
export const createServe = ({
  exchange,
  ...given
}: Omit<AnswerDependencies, 'readCallHeaders'> & { exchange: Exchange }) => {
  const dependencies = { ...given, readCallHeaders: createReadCallHeaders() };
  return async <R extends Record<string, Rpc>>(
    contract: Contract<R>,
    handlers: Handlers<R>,
    { instance }: ServeOptions = {},
  ): Promise<void> => {
    const answers = new Map<string, Answer>();
    for (const [name, rpc] of Object.entries<NamedRpc>(contract.rpcs)) {
      const answer = createAnswer(rpc, handlers[name] as unknown as AnyHandler, dependencies);
      answers.set(rpc.subject, answer);
      if (instance !== undefined) answers.set(instanceSubject(rpc, instance), answer);
    }
    await exchange.respond(contract.service, answers);
  };
};
