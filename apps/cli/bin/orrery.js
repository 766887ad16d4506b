#!/usr/bin/env node
// Committed, so that npm finds and links it before anything is built.
import '@orrery/service-kit/check-node';

void import('../dist/bundle/main.js');
