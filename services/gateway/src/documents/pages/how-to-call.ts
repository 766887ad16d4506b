import { asServiceError, catalogContract, parseRequest } from '@orrery/contracts';
import { problemOf } from '../../core/problems/problem.js';
import { type Html, html } from './html.js';

/** What a first request needs: the key, one command, and the forms of an answer and of an error. */
export function howToCall(): Html {
  return html`<h2 id="start">How to call</h2>
    <p>A request under <code>/api</code> has an API key in the header <code>Authorization: Bearer …</code>. A server that
    was started with <code>npm start</code> has written its first key to <code>.orrery/api-key</code> and its address to
    <code>.orrery/url</code>. Further keys come
    from <a href="#keysCreate"><code>POST /api/keys</code></a>. What wallets send to <code>/app</code> is signed and has no
    key. For another server put its address and your key in their places:</p>
    <pre id="first-request">${FIRST_REQUEST}</pre>
    <p>An answer has <code>success</code> and <code>data</code>, and a list has <code>pagination</code>:</p>
    <pre>${JSON.stringify(EMPTY_LIST, null, 2)}</pre>
    <p>An error is <code>application/problem+json</code> (RFC 9457). <code>code</code> is for programs, <code>error</code>
    for people, and <code>errors</code> says what is wrong where. A misspelt member of a new world is answered with</p>
    <pre>${JSON.stringify(misspelt(), null, 2)}</pre>`;
}

const FIRST_REQUEST =
  'curl -sS "$(cat .orrery/url)/api/worlds" -H "Authorization: Bearer $(cat .orrery/api-key)"';

const EMPTY_LIST = { success: true, data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } };

/** The answer to `POST /api/worlds` with `{ "name": "Derby", "tags": [] }`. */
function misspelt(): object {
  const request = { params: {}, query: {}, headers: {}, body: { name: 'Derby', tags: [] } };
  try {
    return parseRequest(catalogContract.rpcs['worlds.create'], request);
  } catch (error) {
    return problemOf(asServiceError(error), { instance: '/api/worlds', requestId: 'b7c1' });
  }
}
