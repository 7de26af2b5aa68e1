"""Amazon Bedrock Converse: requests, responses and the events of ConverseStream."""
