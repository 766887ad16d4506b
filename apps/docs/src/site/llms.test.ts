import { expect, it } from 'vitest';
import { html } from '../html/html.js';
import { llmsText } from './llms.js';

it('leads agents to the protocol, the document and pages that are there', () => {
  const page = {
    path: 'concepts',
    title: 'Concepts',
    description: '',
    content: html``,
    parts: [],
    layout: 'text' as const,
  };
  const text = llmsText([page]);
  expect(text).toMatch(/^# Orrery\n\n> /);
  for (const path of ['/mcp/deployments/<address>', '/openapi.json', '- [Concepts](/docs/concepts)\n'])
    expect(text).toContain(path);
});
