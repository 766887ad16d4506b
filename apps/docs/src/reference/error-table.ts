import { ERRORS, type ErrorCode } from '@orrery/contracts';
import { type Html, html } from '../html/html.js';
import type { JsonSchema, Operation, Response } from '../openapi/document.js';

/** The codes of an answer that is an error. */
export function codesOf({ content }: Response): ErrorCode[] {
  const schema = content?.['application/problem+json']?.schema;
  const parts = (schema?.['allOf'] ?? []) as JsonSchema[];
  return parts.flatMap((part) => {
    const { code } = (part['properties'] ?? {}) as Record<string, { readonly enum?: ErrorCode[] }>;
    return code?.enum ?? [];
  });
}

/** The statuses that mean for an operation what they mean for every other. */
export const sharedStatuses = ({ responses }: Operation): string[] =>
  Object.entries(responses)
    .filter(([status, { $ref }]) => status >= '300' && $ref !== undefined)
    .map(([status]) => status);

/** The errors of an operation by their codes. */
export function errorTable({ responses }: Operation): Html {
  const codes = Object.values(responses).flatMap(codesOf);
  const rows = codes.map(
    (code) =>
      html`<tr><td>${ERRORS[code].status}</td><td><a href="/docs/reference/errors#${code}"><code>${code}</code></a></td><td>${ERRORS[code].title}</td></tr>`,
  );
  return html`<div class="table"><table><tbody>${rows}</tbody></table></div>`;
}
