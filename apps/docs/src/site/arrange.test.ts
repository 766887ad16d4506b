import { expect, it } from 'vitest';
import { html } from '../html/html.js';
import { arranged, homeless } from './arrange.js';

const page = (path: string) => ({
  path,
  title: path,
  description: '',
  content: html``,
  parts: [],
  layout: 'text' as const,
});

it('pages stand where their section names them, and those that none names are told', () => {
  const pages = ['ai', 'adr', 'adr/2', 'adr/1', 'lost'].map(page);
  const sections = arranged(pages, [
    { title: 'Concepts', pages: [{ path: 'ai', label: 'AI models' }, 'absent'] },
    { title: 'Decisions', pages: ['adr', 'adr/*'] },
  ]);
  expect(sections.map((section) => section.pages.map(({ path, label }) => [path, label]))).toEqual([
    [['ai', 'AI models']],
    [
      ['adr', undefined],
      ['adr/2', undefined],
      ['adr/1', undefined],
    ],
  ]);
  expect(homeless(pages, sections)).toEqual(['lost']);
});
