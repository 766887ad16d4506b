import { StartupError } from '@orrery/service-kit';
import type { ServerAnswer, ServerRequest } from './ask-server.js';

/** The server has refused a request. The message is its problem document for people: code, sentence, pointers. */
export class Refusal extends StartupError {
  readonly problem: ServerAnswer;

  constructor(request: Pick<ServerRequest, 'method' | 'path'>, problem: ServerAnswer) {
    super(textOf(request, problem));
    this.problem = problem;
  }
}

function textOf({ method, path }: Pick<ServerRequest, 'method' | 'path'>, problem: ServerAnswer): string {
  const { status, code, error = '', errors = [] } = problem;
  const reason = code === undefined ? status : `${status} ${code}`;
  // One problem is in the sentence already.
  const further = errors.filter(({ message }) => !error.includes(message));
  const lines = further.map(({ pointer, message }) => `\n  ${pointer || 'the body'}: ${message}`);
  return `${method} ${path} was refused (${reason}): ${error}${lines.join('')}`;
}
