// Restate's form of the benchmark's event: a virtual object that counts. Usage: restate-counter.mjs PORT
import { object, serve } from '@restatedev/restate-sdk';

const counter = object({
  name: 'counter',
  handlers: {
    tick: async (context, { by }) => {
      const value = ((await context.get('value')) ?? 0) + by;
      context.set('value', value);
      return value;
    },
  },
});
await serve({ services: [counter], port: Number(process.argv[2]) });
