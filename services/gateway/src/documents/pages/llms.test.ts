import { expect, it } from 'vitest';
import { readGuides } from './guides.js';
import { llmsText } from './llms.js';

it('leads agents to the protocol, the document and pages that are there', () => {
  const guides = readGuides();
  const text = llmsText(guides);
  expect(text).toMatch(/^# Orrery\n\n> /);
  for (const path of ['/mcp/deployments/<address>', '/openapi.json', '/docs/guides/an-agent-plays'])
    expect(text).toContain(path);
  const pages = [...text.matchAll(/\(\/docs\/([^)]+)\)/g)].map(([, path = '']) => path);
  expect(pages.length).toBe(6);
  expect(pages.every((path) => guides.has(path))).toBe(true);
  expect(llmsText(new Map())).not.toContain('## Pages');
});
