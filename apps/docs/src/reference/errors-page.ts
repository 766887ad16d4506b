import { ERRORS } from '@orrery/contracts';
import { type Html, html } from '../html/html.js';
import type { Page } from '../layout/page.js';
import { headingOf } from '../markdown/render-page.js';
import { type OpenApi, operationsOf, type PlacedOperation, resourcePath } from '../openapi/document.js';
import { codesOf } from './error-table.js';

const MEANINGS = Object.entries(ERRORS);

/** Every error code, by its status. */
export function errorsPage(document: OpenApi): Page {
  const operations = operationsOf(document);
  const statuses = [...new Set(MEANINGS.map(([, { status }]) => status))].sort((a, b) => a - b);
  return {
    path: 'reference/errors',
    title: 'Errors',
    description: 'Every error code, its status and what answers it.',
    content: html`<h1 id="errors">Errors</h1>
<p class="lead">An error is <code>application/problem+json</code> (RFC 9457). <code>code</code> is for programs,
<code>error</code> is for people, and <code>errors</code> says what is wrong where. A code that is <em>worth a repetition</em>
may be answered otherwise when the same request is sent again: the <a href="/docs/sdk#requests">SDK</a> does that by itself.</p>
${statuses.map((status) => statusSection(status, operations))}`,
    parts: statuses.map((status) => ({
      anchor: `problem-${status}`,
      heading: `Status ${status}`,
      depth: 2,
      text: MEANINGS.filter(([, meaning]) => meaning.status === status)
        .map(([code, { title }]) => `${code}: ${title}.`)
        .join(' '),
    })),
    layout: 'text',
  };
}

function statusSection(status: number, operations: readonly PlacedOperation[]): Html {
  const codes = MEANINGS.filter(([, meaning]) => meaning.status === status);
  const rows = codes.map(
    ([
      code,
      { title, retryable },
    ]) => html`<div id="${code}"><dt><code>${code}</code>${retryable ? html` <span class="required">worth a repetition</span>` : ''}</dt>
<dd>${title}. ${answeredBy(code, operations)}</dd></div>`,
  );
  return html`${headingOf(2, `problem-${status}`, html`Status ${status}`)}<dl class="members">${rows}</dl>`;
}

/** More operations than this are too many to name. */
const FEW = 6;

function answeredBy(code: string, operations: readonly PlacedOperation[]): Html {
  const own = operations.filter(({ responses }) =>
    Object.values(responses).some((response) => (codesOf(response) as string[]).includes(code)),
  );
  if (own.length === 0 || own.length > FEW) return html``;
  const links = own.map(
    ({ summary, tags: [tag = ''], operationId }, at) =>
      html`${at === 0 ? '' : ', '}<a href="/docs/${resourcePath(tag)}#${operationId}">${summary}</a>`,
  );
  return html`Answered by ${links}.`;
}
