import type { Exchange } from '@orrery/testing/system';

/** An exchange whose answer breaks the document: a success with a property more, a problem with another code. */
export function spoil(exchange: Exchange): Exchange {
  const { answer } = exchange;
  const wrong = answer.status < 400 ? { undocumented: true } : { code: 'undocumented' };
  const body = JSON.stringify({ ...JSON.parse(answer.body), ...wrong });
  return { ...exchange, answer: { ...answer, body } };
}
