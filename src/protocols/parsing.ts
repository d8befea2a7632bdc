export * from '../domain/parsing.js';
