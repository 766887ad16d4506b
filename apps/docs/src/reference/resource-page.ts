import { html } from '../html/html.js';
import type { Page } from '../layout/page.js';
import { type OpenApi, operationsOf, resourcePath } from '../openapi/document.js';
import { operationSection } from './operation-section.js';

/** A page for each group of operations, in the order of the document. */
export function resourcePages(document: OpenApi): Page[] {
  const operations = operationsOf(document);
  return document.tags.map(({ name, description }) => {
    const own = operations.filter(({ tags }) => tags.includes(name));
    return {
      path: resourcePath(name),
      title: name,
      description: `${description}.`,
      content: html`<h1 id="top">${name}</h1><p class="lead">${description}.</p>
${own.map((operation) => operationSection(operation, document))}`,
      parts: own.map(({ operationId, summary, method, path, description: text }) => ({
        anchor: operationId,
        heading: summary,
        depth: 2,
        text: `${method.toUpperCase()} ${path} ${operationId} ${text}`.replaceAll('`', ''),
      })),
      layout: 'reference' as const,
    };
  });
}
