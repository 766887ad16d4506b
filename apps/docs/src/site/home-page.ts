import { codeBlock } from '../html/highlight.js';
import { type Html, html } from '../html/html.js';
import { type Page, urlOf } from '../layout/page.js';
import type { OpenApi } from '../openapi/document.js';
import { FIRST_REQUEST, operationList } from '../reference/overview-page.js';

const CARDS = [
  ['start', 'Quick start', 'A racing world in twelve commands, on your machine.'],
  ['concepts', 'Concepts', 'What the words mean and what the parts do, shown by commands.'],
  ['console', 'The console', 'Build worlds, run events, look at any moment of a history.'],
  ['cli', 'The command orrery', 'All of it from a terminal, and worlds as files.'],
  ['sdk', 'The SDK', 'A typed client for Node and browsers, which verifies.'],
  ['reference', 'API reference', 'Every operation with examples, and a form to try it.'],
  ['operations', 'Operations', 'Running Orrery: variables, backups, metrics, alerts.'],
  ['adr', 'Decisions', 'Why it is as it is.'],
] as const;

/** `/docs`. Its list of operations has the anchors that the page had when it was the whole reference. */
export function homePage(document: OpenApi, guides: readonly Page[]): Page {
  const { title, version, description } = document.info;
  return {
    path: '',
    title: 'Orrery documentation',
    label: 'Overview',
    description,
    content: html`<h1 id="top">${title} <small>${version}</small></h1><p class="lead">${description}</p>
<ul class="cards">${CARDS.map(card)}</ul>
<h2 id="start">A first request</h2><p>In the folder of a server that was started with <code>npm start</code>:</p>
<div id="first-request">${codeBlock(FIRST_REQUEST, 'bash')}</div>
<p><a href="/docs/reference">How to call</a> says the rest. For programs there are <a href="/openapi.json">openapi.json</a>
and, for agents, <a href="/llms.txt">llms.txt</a>.</p>
<h2 id="guides">Guides</h2><ul class="cards">${guides.map(({ path, title: name, description: text }) => card([path, name, text]))}</ul>
<h2 id="operations">All operations</h2>${operationList(document)}`,
    parts: [],
    layout: 'home',
  };
}

const card = ([path, title, text]: readonly [string, string, string]): Html =>
  html`<li><a href="${urlOf(path)}"><b>${title}</b><span>${text}</span></a></li>`;
