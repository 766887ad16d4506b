import { isStream, type PlacedOperation } from '../openapi/document.js';
import { Expression, literal } from './javascript.js';
import { type ShownCall, shownCall } from './shown-call.js';

/** The call with the SDK, as `@orrery/sdk` is used: `orrery` is a client; `world` and `deployment` are addresses. */
export function sdkSample(operation: PlacedOperation): string {
  const call = shownCall(operation);
  const own = OWN[operation.operationId];
  return own === undefined ? request(operation, call) : own(call);
}

function request(operation: PlacedOperation, shown: ShownCall): string {
  if (isStream(operation)) return PUBLIC_STREAM;
  const { method, path } = operation;
  const init = initOf(shown);
  const call = isPaged(operation)
    ? `for await (const one of orrery.list('${path}'`
    : `const data = await orrery.${method}('${path}'`;
  const given = Object.keys(init).length === 0 ? '' : `, ${literal(init, call.length + 4)}`;
  return isPaged(operation) ? `${call}${given})) {\n  console.log(one);\n}` : `${call}${given});`;
}

/** Its pages are read by themselves. */
const isPaged = ({ parameters = [] }: PlacedOperation): boolean =>
  parameters.some((one) => one.in === 'query' && one.name === 'page');

function initOf({ params, query, headers, body }: ShownCall): object {
  const { 'idempotency-key': idempotencyKey, ...others } = headers;
  return {
    ...(params.length > 0 && { path: Object.fromEntries(params.map((one) => [one.name, shownValue(one)])) }),
    ...(Object.keys(query).length > 0 && { query: typed(query) }),
    ...(body !== undefined && { body }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(Object.keys(others).length > 0 && { headers: others }),
  };
}

const shownValue = ({ value, variable }: ShownCall['params'][number]): unknown =>
  variable === undefined ? value : new Expression(variable.toLowerCase());

/** Numbers and switches of a query as the types of the SDK have them. */
const typed = (query: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      /^(\d+|true|false)$/.test(value) ? JSON.parse(value) : value,
    ]),
  );

const PUBLIC_STREAM = `const answer = await fetch(\`\${url}/app/deployments/\${deployment}/stream\`);
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
  console.log(text);
}`;

const DEPLOYMENT = 'orrery.deployment(world, deployment)';

/** Calls for which the SDK has a function of its own. */
const OWN: Readonly<Record<string, ((call: ShownCall) => string) | undefined>> = {
  deploymentsExecute: ({ body }) => {
    const call = `const answer = await ${DEPLOYMENT}.execute(`;
    return `${call}${literal(body, call.length)});`;
  },
  deploymentsStream: ({ headers }) =>
    `for await (const event of ${DEPLOYMENT}.stream({ after: ${headers['last-event-id'] ?? 0} })) {\n  console.log(event);\n}`,
  historyVerify: () =>
    `const verified = await ${DEPLOYMENT}.verifyHistory();\nconsole.log(verified.valid, verified.entries);`,
  publicExecute: publicSample,
  publicExecuteEvent: publicSample,
};

function publicSample({ params, body }: ShownCall): string {
  const { event = params.find(({ name }) => name === 'event')?.value, input } = body as {
    event?: string;
    input?: unknown;
  };
  const call = { deployment: new Expression('deployment'), event, input, by: new Expression('wallet') };
  return `const answer = await orrery.executePublic(${literal(call, 44)});`;
}
