import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Html, html } from './html.js';

/** What the pages are written in, by the words after their fences. */
const LANGUAGES = { sh: bash, bash, json, js: typescript, ts: typescript, yaml, python, sql, http, ini };
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);

/** A block of code, coloured when the site is built. */
export function codeBlock(code: string, language = ''): Html {
  const isKnown = language in LANGUAGES;
  const content = isKnown ? new Html(coloured(code, language)) : html`${code}`;
  return html`<pre${isKnown ? new Html(` data-language="${language}"`) : ''}><code>${content}</code></pre>`;
}

/** Brackets and commas have the colour of the text: without elements of their own a page is a third smaller. */
const coloured = (code: string, language: string): string =>
  hljs
    .highlight(code, { language })
    .value.replaceAll(/<span class="hljs-punctuation">([^<]*)<\/span>/g, '$1');
