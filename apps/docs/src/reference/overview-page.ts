import { asServiceError, catalogContract, ERRORS, parseRequest } from '@orrery/contracts';
import { codeBlock } from '../html/highlight.js';
import { type Html, html } from '../html/html.js';
import type { Page } from '../layout/page.js';
import { headingOf } from '../markdown/render-page.js';
import { type OpenApi, operationsOf, resourcePath } from '../openapi/document.js';

/** The reference's first page: how to call, what answers look like, and all operations. */
export function overviewPage(document: OpenApi): Page {
  const parts = [
    ['start', 'How to call'],
    ['answers', 'Answers'],
    ['mistakes', 'Errors'],
    ['operations', 'All operations'],
  ] as const;
  return {
    path: 'reference',
    title: 'The API',
    label: 'Overview',
    description: 'How to call the API, and all of its operations.',
    content: html`<h1 id="api">The API</h1><p class="lead">${document.info.description} The same for programs:
<a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), and <a href="/llms.txt">llms.txt</a> for agents.</p>${howToCall()}
${headingOf(2, 'operations', html`All operations`)}${operationList(document)}`,
    parts: parts.map(([anchor, heading]) => ({ anchor, heading, depth: 2, text: '' })),
    layout: 'text',
  };
}

/** Every operation with a link to where it is described. */
export function operationList(document: OpenApi): Html {
  const operations = operationsOf(document);
  return html`${document.tags.map(({ name }) => {
    const own = operations.filter(({ tags }) => tags.includes(name));
    const items = own.map(
      ({
        operationId,
        method,
        path,
        summary,
      }) => html`<li id="${operationId}"><a href="/docs/${resourcePath(name)}#${operationId}">${summary}</a>
<span class="route"><b class="method ${method}">${method.toUpperCase()}</b> <code>${path}</code></span></li>`,
    );
    const slug = resourcePath(name).slice('reference/'.length);
    return html`<h3 id="${slug}"><a href="/docs/${resourcePath(name)}">${name}</a></h3><ul class="operations">${items}</ul>`;
  })}`;
}

/** What a first request needs: the key, one command, and the forms of an answer and of an error. */
function howToCall(): Html {
  return html`${headingOf(2, 'start', html`How to call`)}
<p>A request under <code>/api</code> has an API key in the header <code>Authorization: Bearer …</code>. A server that was
started with <code>npm start</code> has written its first key to <code>.orrery/api-key</code> and its address to
<code>.orrery/url</code>. The examples of these pages read both from variables, and the command <code>orrery</code> knows
them under the same names:</p>
${codeBlock('export ORRERY_URL=$(cat .orrery/url)\nexport ORRERY_KEY=$(cat .orrery/api-key)', 'bash')}
<p>Further keys come from <a href="/docs/reference/keys#keysCreate"><code>POST /api/keys</code></a>. What wallets send to
<code>/app</code> is signed and has no key. The first request, in the folder of the server:</p>
<div id="first-request">${codeBlock(FIRST_REQUEST, 'bash')}</div>
<p>In the examples <code>$WORLD</code> and <code>$DEPLOYMENT</code> are the addresses, or the numeric ids, of a world and of
a deployment; the SDK's examples have them as <code>world</code> and <code>deployment</code>, and <code>orrery</code> is a
<a href="/docs/sdk#requests">client</a>. An operation that can be tried has a form, which sends the call from this page with
your key. The page keeps the key in memory alone.</p>
${headingOf(2, 'answers', html`Answers`)}<p>An answer has <code>success</code> and <code>data</code>, and a list has
<code>pagination</code>:</p>${json(EMPTY_LIST)}
${headingOf(2, 'mistakes', html`Errors`)}<p>An error is <code>application/problem+json</code> (RFC 9457).
<code>code</code> is for programs (<a href="/docs/reference/errors">all of them</a>), <code>error</code> for people, and
<code>errors</code> says what is wrong where. A misspelt member of a new world is answered with</p>
<div id="misspelt">${json(misspelt())}</div>`;
}

const json = (value: unknown): Html => codeBlock(JSON.stringify(value, null, 2), 'json');

export const FIRST_REQUEST =
  'curl -sS "$(cat .orrery/url)/api/worlds" -H "Authorization: Bearer $(cat .orrery/api-key)"';

const EMPTY_LIST = { success: true, data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } };

/** The answer to `POST /api/worlds` with `{ "name": "Derby", "tags": [] }`; a test compares with a server's. */
function misspelt(): object {
  const request = { params: {}, query: {}, headers: {}, body: { name: 'Derby', tags: [] } };
  try {
    return parseRequest(catalogContract.rpcs['worlds.create'], request);
  } catch (error) {
    const { code, message, errors } = asServiceError(error);
    const { title, status } = ERRORS[code];
    return {
      success: false,
      error: message,
      code,
      type: `urn:orrery:problem:${code}`,
      title,
      status,
      detail: message,
      instance: '/api/worlds',
      requestId: 'b7c1',
      errors,
    };
  }
}
