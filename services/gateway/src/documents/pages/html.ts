const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that needs no further escaping. */
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

/** The style of all pages: they load nothing. */
export const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:13px}pre{background:#f4f5f7;padding:.8rem;overflow:auto}
details{border-bottom:1px solid #dde1e6;padding:.4rem 0}summary{cursor:pointer}table{border-collapse:collapse;width:100%}
td{border-top:1px solid #eceef1;padding:.25rem .6rem .25rem 0;vertical-align:top}b{display:inline-block;width:4.5em}
.get{color:#0a58ca}.post{color:#18794e}.put{color:#9a6700}.delete{color:#c0362c}h2{margin-top:2.2rem}
@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#16181c}pre{background:#1f2227}a{color:#7ab4ff}
details{border-color:#30343a}td{border-color:#282c31}.get{color:#7ab4ff}.post{color:#5cc98d}.put{color:#e0b352}.delete{color:#ff8d85}}`;
