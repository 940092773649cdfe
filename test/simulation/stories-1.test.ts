import { testStories } from './stories.ts';

testStories(1, 11);
