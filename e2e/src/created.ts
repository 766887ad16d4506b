import type { ApiAnswer } from './api-client.js';

/** The record that was made; throws with the answer where none was. */
export function created(answer: ApiAnswer) {
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}
