import { defaultClientConditions, defineConfig } from 'vite';

/** The gateway serves what this makes under `/play/`. Everything but index.html is named by its contents. */
export default defineConfig({
  base: '/play/',
  // Our packages from their TypeScript source, so that `npm run dev` needs no build.
  resolve: { conditions: ['@orrery/source', ...defaultClientConditions] },
  build: {
    // `light-dark()` of the style sheet is in these and in what came after.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy allows data only as images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/app': 'http://127.0.0.1:3000' } },
});
