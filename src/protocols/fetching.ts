export * from '../domain/fetching.js';
