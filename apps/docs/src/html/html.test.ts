import { describe, expect, it } from 'vitest';
import { html } from './html.js';

describe('html', () => {
  it('escapes what is put in, but not what is HTML already', () => {
    const name = `<b class="x">&'</b>`;
    expect(html`<p>${name}${html`<i>${1}</i>`}${undefined}</p>`.text).toBe(
      '<p>&lt;b class=&quot;x&quot;&gt;&amp;&#39;&lt;/b&gt;<i>1</i></p>',
    );
  });

  it('joins lists', () => {
    expect(html`${['a', '<'].map((one) => html`<li>${one}`)}`.text).toBe('<li>a<li>&lt;');
  });
});
