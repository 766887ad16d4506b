const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Markup that needs no further escaping. The gateway has templates like these (`documents/metadata/html.ts`): what both import,
 * the contracts, has no HTML, and a package for twenty lines would cost more than they do.
 */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A template of HTML: what is put in is escaped, unless it is `Html` itself; lists are joined. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): Html {
  return new Html(parts.map((part, at) => part + (at < values.length ? rendered(values[at]) : '')).join(''));
}

function rendered(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(rendered).join('');
  return value === undefined ? '' : String(value).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
