"""Whether the files a memory is about still are what they were."""
