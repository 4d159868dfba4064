# 1040186519e656c1
import json

campaigns = POST_donationCampaigns(merchantAccount="KruidenierJansen_NL", currency="EUR")["donationCampaigns"]
best = max(campaigns, key=lambda campaign: max(campaign["donation"]["values"]))
labels = ("nonprofitName", "campaignName", "causeName", "id")
others = [campaign["nonprofitName"] for campaign in campaigns if campaign["id"] != best["id"]]
print(json.dumps({"all": [[best[label] for label in labels]], "others": others}))
