import type { GatewayFacts } from './open-gateway.js';

export interface WelcomeFacts extends GatewayFacts {
  readonly dataDirectory: string;
  /** Lines about payments. */
  readonly payments: readonly string[];
}

/** What a newcomer sees first: where it is, how to see it, how to call it, how to go on. */
export const welcome = (facts: WelcomeFacts): string => `
  Orrery runs at ${facts.url}   (reference: ${facts.url}/docs)
${consoleLines(facts)}
  API key   ${facts.key}
            kept in ${facts.dataDirectory}/api-key, the address in url beside it: \`orrery\` reads both

  Payments  ${facts.payments.join('\n            ')}

  Try it:   curl ${facts.url}/api/worlds -H "Authorization: Bearer ${facts.key}"
  Or play the racing walk-through, in another terminal:   npm run demo

  Ctrl-C ends it; the next start carries on.

`;

function consoleLines({ url, hasConsole, code }: GatewayFacts): string {
  if (!hasConsole) return '';
  if (code === undefined) return `\n  Console   ${url}/console/\n`;
  return `
  Console   ${url}/console/sign-in#code=${code}
            signs you in once, within 60 seconds; \`npm run orrery -- console\` prints a new link
`;
}
