import { codeBlock } from '../html/highlight.js';
import { type Html, html } from '../html/html.js';
import { answerExample } from '../openapi/answers.js';
import {
  bodyOf,
  isKeyed,
  isStream,
  type JsonSchema,
  type OpenApi,
  type PlacedOperation,
} from '../openapi/document.js';
import { samplesOf } from '../samples/samples.js';
import { errorTable, sharedStatuses } from './error-table.js';
import { memberItems, membersOf, prose, recordOf, schemaText } from './schema-text.js';

/** One operation: what it does, takes and answers, and beside it how it is called. */
export function operationSection(operation: PlacedOperation, document: OpenApi): Html {
  const { operationId, summary, method, path, description } = operation;
  return html`<section class="operation"><div class="said">
<h2 id="${operationId}">${summary}<a class="anchor" href="#${operationId}" aria-label="Link to ${summary}">#</a></h2>
<p class="route"><b class="method ${method}">${method.toUpperCase()}</b> <code>${path}</code></p>
<p>${prose(description)}</p>${taken(operation, document)}${answered(operation)}${errors(operation)}</div>
<div class="shown">${samples(operation)}${answer(operation, document)}${tryIt(operation)}</div></section>`;
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function taken(operation: PlacedOperation, document: OpenApi): Html {
  const { parameters = [] } = operation;
  const lists = Object.entries(PLACES).map(([place, title]) => {
    const own = parameters.filter((one) => one.in === place);
    const items = own.map((one) => ({ ...one, description: one.description }));
    return own.length === 0 ? html`` : html`<h3>${title}</h3>${memberItems(items)}`;
  });
  return html`${lists}${bodyPart(bodyOf(operation)?.schema, document)}`;
}

function bodyPart(schema: JsonSchema | undefined, { components }: OpenApi): Html {
  if (schema === undefined) return html``;
  const element = schema['type'] === 'array' ? (schema['items'] as JsonSchema) : schema;
  const record = recordOf(element);
  const members = membersOf((record && components.schemas[record]) || element);
  return html`<h3>Body <span class="kind">${schemaText(schema)}</span></h3>${members.length > 0 ? memberItems(members) : ''}`;
}

function answered({ responses }: PlacedOperation): Html {
  const items = Object.entries(responses)
    .filter(([status]) => status < '300')
    .map(([status, { description, content }]) => {
      const envelope = content?.['application/json']?.schema as { properties?: Record<string, JsonSchema> };
      const data = envelope?.properties?.['data'];
      const stream = content?.['text/event-stream']?.schema;
      return html`<div><dt><code>${status}</code> <span class="kind">${data === undefined ? '' : html`data: ${schemaText(data)}`}</span></dt>
<dd>${prose(stream === undefined ? (data?.['description'] ?? description) : stream['description'])}</dd></div>`;
    });
  return html`<h3>Answers</h3><dl class="members">${items}</dl>`;
}

function errors(operation: PlacedOperation): Html {
  const shared = sharedStatuses(operation);
  const others = shared.map(
    (status, at) =>
      html`${at === 0 ? '' : ', '}<a href="/docs/reference/errors#problem-${status}">${status}</a>`,
  );
  return html`<details class="errors"><summary>Errors</summary>${errorTable(operation)}
${shared.length === 0 ? '' : html`<p>And, as everywhere, ${others}.</p>`}</details>`;
}

const samples = (
  operation: PlacedOperation,
): Html => html`<div class="samples" role="group" aria-label="Examples of the call">
${samplesOf(operation).map(
  ({ kind, title, language, code }) =>
    html`<div class="sample ${kind}"><p>${title}</p>${codeBlock(code, language)}</div>`,
)}</div>`;

function answer(operation: PlacedOperation, document: OpenApi): Html {
  const example = answerExample(operation, document);
  if (example === undefined) return html``;
  const { status, code, language } = example;
  return html`<div class="answer"><p>Answer ${status}</p>${codeBlock(code, language)}</div>`;
}

/** What the form that tries a call is made of, in the page that has scripts. */
function tryIt(operation: PlacedOperation): Html {
  const { method, path, parameters = [] } = operation;
  const fields = parameters.map(({ name, in: place, required, example }) => ({
    name,
    in: place,
    required,
    example,
  }));
  const body = bodyOf(operation);
  const data = {
    method,
    path,
    fields,
    isKeyed: isKeyed(operation),
    isStream: isStream(operation),
    ...(body !== undefined && { body: body.example ?? {} }),
  };
  return html`<button type="button" class="try" hidden data-try="${JSON.stringify(data)}">Try it</button>`;
}
