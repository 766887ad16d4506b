import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';
import { docPages } from './doc-pages.js';
import { exampleWorlds } from './example-worlds.js';

/** The gateway serves what this makes under `/console/`. Everything but index.html is named by its contents. */
export default defineConfig({
  base: '/console/',
  plugins: [
    react(),
    tailwindcss(),
    exampleWorlds(join(import.meta.dirname, '../../examples')),
    docPages(join(import.meta.dirname, '../../docs')),
  ],
  // Our packages from their TypeScript source, so that `npm run dev` needs no build.
  resolve: { conditions: ['@orrery/source', ...defaultClientConditions] },
  // The gateway puts a new nonce here for each page: the editor makes style elements as it runs.
  html: { cspNonce: 'NONCE_OF_THE_PAGE' },
  build: {
    // `light-dark()` of the style sheet is in these and in what came after.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy allows data only as images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/app', '/auth'].map((path) => [path, 'http://127.0.0.1:3000'])),
  },
});
