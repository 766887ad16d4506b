export interface WelcomeFacts {
  readonly url: string;
  readonly key: string;
  readonly dataDirectory: string;
}

/** What a newcomer sees first: where it is, how to call it, how to go on. */
export const welcome = ({ url, key, dataDirectory }: WelcomeFacts): string => `
  Orrery runs at ${url}   (reference: ${url}/docs)

  API key   ${key}
            kept in ${dataDirectory}/api-key, the address in url beside it: \`orrery\` reads both

  Try it:   curl ${url}/api/worlds -H "Authorization: Bearer ${key}"
  Or play the racing walk-through, in another terminal:   npm run demo

  Ctrl-C ends it; the next start carries on.

`;
