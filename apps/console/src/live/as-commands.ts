import type { DeploymentRef } from '../api/records.js';
import type { Request } from '../run/execute.js';

/** An execution as programs send it. The key of the session is never in it. */
export interface Commands {
  readonly curl: string;
  readonly orrery: string;
  readonly sdk: string;
}

/** @param origin of the server, such as `https://orrery.example` */
export function commandsOf(origin: string, { world, deployment }: DeploymentRef, request: Request): Commands {
  const { event, input } = request;
  const path = `/api/worlds/${world}/deployments/${deployment}/execute`;
  return {
    curl: [
      `curl -X POST ${quoted(origin + path)}`,
      `  -H "Authorization: Bearer $ORRERY_KEY"`,
      `  -H 'Content-Type: application/json'`,
      `  --data ${quoted(JSON.stringify({ event, input }))}`,
    ].join(' \\\n'),
    orrery: [
      `orrery execute ${quoted(`${world}/${deployment}`)} ${quoted(event)}`,
      `  --input ${quoted(JSON.stringify(input))}`,
      `  --url ${quoted(origin)}`,
    ].join(' \\\n'),
    sdk: [
      "import { createOrrery } from '@orrery/sdk';",
      '',
      `const orrery = createOrrery({ url: ${JSON.stringify(origin)}, token: ORRERY_KEY });`,
      `await orrery.deployment(${JSON.stringify(world)}, ${JSON.stringify(deployment)}).execute({`,
      `  event: ${JSON.stringify(event)},`,
      `  input: ${JSON.stringify(input, null, 2).replaceAll('\n', '\n  ')},`,
      '});',
    ].join('\n'),
  };
}

/** One word of a POSIX shell, whatever the text holds. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
