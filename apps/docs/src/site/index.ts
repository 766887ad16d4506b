export { makeSite, type Site } from './make-site.js';
export { readSources } from './read-sources.js';
