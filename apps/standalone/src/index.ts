export { startStandalone } from './start-standalone.js';
